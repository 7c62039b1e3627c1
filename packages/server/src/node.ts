export { type Served, type ServeOptions, serve, toNode } from './node/serve.ts'
