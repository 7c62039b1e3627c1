export { type Served, type ServeOptions, serve, toFastify, toKoa, toNode } from './node/serve.ts'
