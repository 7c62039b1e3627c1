export { toFastify } from './node/fastify.ts'
export {
  type LambdaContext,
  type LambdaEvent,
  type LambdaOptions,
  type LambdaRuntime,
  lambdaHandler,
  type StreamingHandler,
} from './node/lambda.ts'
export { type Served, type ServeOptions, serve, toKoa, toNode } from './node/serve.ts'
