/** What HTTP and WebSocket tell the metrics, and how `/metrics` reads them. */
export interface HttpMetrics {
  /** Content-Type of `render()`. */
  readonly contentType: string;
  render(): Promise<string>;
  /** `route` is the path template, `unmatched` where none fits, so that the number of series stays bounded. */
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
