export { type AuditEntry, type AuditLog, type AuditLogOptions, auditLog } from './audit/audit-log.ts'
export { type GivenUpRun, recordGivenUp } from './audit/given-up.ts'
