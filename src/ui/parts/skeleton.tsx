/** A placeholder for content that loads. It appears after a moment, so that a quick answer does not flicker. */
export function Skeleton({ lines = 3, label }: { lines?: number; label: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="skeleton-line" />
      ))}
    </div>
  );
}
