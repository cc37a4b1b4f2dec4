/** Metrics that HTTP and WebSocket report, and how `/metrics` reads them. */
export interface HttpMetrics {
  /** Content-Type of `render()`. */
  readonly contentType: string;
  render(): Promise<string>;
  /** `route` is the path template, `unmatched` when there is none, so that the number of series stays bounded. */
  observeRequest(request: HttpObservation): void;
  /** Open connections of `/v1/stream`. */
  setStreamClients(count: number): void;
}

export interface HttpObservation {
  method: string;
  route: string;
  status: number;
  seconds: number;
}
