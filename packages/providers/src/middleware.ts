export type { AiSdkMiddleware } from './middleware/ai-sdk-middleware.ts'
export { type FromAiSdkMiddlewareOptions, fromAiSdkMiddleware } from './middleware/from-ai-sdk-middleware.ts'
