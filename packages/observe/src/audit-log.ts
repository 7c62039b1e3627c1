// Makes the bundler put what the entries share into one file.
import './index.ts'

export { type AuditEntry, type AuditLog, type AuditLogOptions, auditLog } from './audit/audit-log.ts'
export { type GivenUpRun, recordGivenUp } from './audit/given-up.ts'
