/** `npm run chaos -- …`: of stores and their sessions; `npm run chaos -- durable …`: of durable runs. */
const trial = process.argv[2] === 'durable' ? 'durable' : 'store-postgres'
await import(`../packages/${trial}/test/chaos/run.ts`)
