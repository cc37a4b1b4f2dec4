/** A simulated head of a Ray cluster of many nodes; prints its address. `tsx ray-head.ts NODES` */
import { FakeRayHead } from '../../test/clusters/ray/fake-ray-head.js';

const head = await FakeRayHead.start();
head.nodes = Array.from({ length: Number(process.argv[2]) }, (_, index) => ({
  NodeID: index.toString(16).padStart(56, '0'),
  Alive: true,
  Resources: {
    CPU: 16,
    GPU: 1,
    memory: 1e11,
    object_store_memory: 1e9,
    [`node:10.0.${index >> 8}.${index & 255}`]: 1,
  },
}));
console.log(head.address);
