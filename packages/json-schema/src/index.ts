export type { UntrustedSchemaLimits } from './limits.ts'
export { untrustedSchema } from './untrusted-schema.ts'
