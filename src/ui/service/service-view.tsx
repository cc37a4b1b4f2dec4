/** The service: whether it is ready, what runs the network, which models there are. */
import { Empty } from '../parts/empty.js';

export function ServiceView() {
  return (
    <>
      <h1>Service</h1>
      <Empty icon="service" title="Collecting" />
    </>
  );
}
