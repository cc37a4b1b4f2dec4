/** Figures of the rounds of one server on one set of photos, alone and against another server's. */

/** One round: each photo's time at one client, and the rate at several. */
export interface Round {
  /** Milliseconds by photo. */
  latencies: ReadonlyMap<string, number>;
  perSecond: number;
  /** Requests that were sent again because the server had too much to do. */
  refused: number;
}

export interface Spread {
  q1: number;
  median: number;
  q3: number;
}

/** Quartiles, between samples by interpolation; NaN of nothing. */
export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? NaN;
    const above = sorted[Math.ceil(place)] ?? NaN;
    return below + (above - below) * (place - Math.floor(place));
  };
  return { q1: at(0.25), median: at(0.5), q3: at(0.75) };
}

/** The mean over the photos of each photo's median over the rounds. */
export function typicalLatency(rounds: readonly Round[]): number {
  const photos = [...(rounds[0]?.latencies.keys() ?? [])];
  return mean(
    photos.map(
      (photo) => spread(rounds.map(({ latencies }) => latencies.get(photo) ?? NaN)).median,
    ),
  );
}

export function typicalRate(rounds: readonly Round[]): number {
  return spread(rounds.map(({ perSecond }) => perSecond)).median;
}

/** One quotient a round, so that a machine that is slow for a while is so for both sides. */
export interface Ratios {
  /** Time of the first by time of the second: below 1 the first is the faster. */
  latency: Spread;
  /** Rate of the first by rate of the second: above 1 the first is the faster. */
  rate: Spread;
}

export function ratios(one: readonly Round[], other: readonly Round[]): Ratios {
  const each = (figure: (round: Round) => number) =>
    spread(one.map((round, index) => figure(round) / (other[index] ? figure(other[index]) : NaN)));
  return {
    latency: each(meanLatency),
    rate: each(({ perSecond }) => perSecond),
  };
}

/** Milliseconds a photo. */
export const meanLatency = ({ latencies }: Round) => mean([...latencies.values()]);

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
