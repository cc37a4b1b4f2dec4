import type { ComponentChildren } from 'preact';
import { hashOf } from '../address/address.js';

interface ImageLinkProps {
  /** Null: there is none, or its job was removed. */
  image: { job_id: string; index: number } | null | undefined;
  name: string;
  /** The question that it is opened with, as the address has it. */
  texts?: Record<string, string>;
  /** The picture. */
  children: ComponentChildren;
}

/** A tile that leads to an image of a job; an empty one without an image. */
export function ImageLink({ image, name, texts, children }: ImageLinkProps) {
  if (image === null || image === undefined) {
    return (
      <span class="image-link">
        <span class="thumbnail" />
      </span>
    );
  }
  const target = { screen: 'image', jobId: image.job_id, index: image.index } as const;
  return (
    <a class="image-link" href={hashOf(target, texts)} aria-label={name}>
      {children}
    </a>
  );
}
