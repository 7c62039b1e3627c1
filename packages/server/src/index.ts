export type { RunError, RunEvent } from '@allium/durable/log'
export type { ServedAgent, ServerOptions } from './options.ts'
export { type Server, server } from './server.ts'
