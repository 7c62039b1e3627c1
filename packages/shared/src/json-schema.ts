export type { UntrustedSchemaLimits } from './json-schema/limits.ts'
export { untrustedSchema } from './json-schema/untrusted-schema.ts'
