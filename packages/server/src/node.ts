export { toFastify } from './node/fastify.ts'
export { type Served, type ServeOptions, serve, toKoa, toNode } from './node/serve.ts'
