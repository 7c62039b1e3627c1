export type { ServedAgent, ServerOptions } from './options.ts'
export type { RunError, RunEvent } from './run/entry.ts'
export { type Server, server } from './server.ts'
