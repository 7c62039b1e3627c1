export { type AuditEntry, type AuditLog, type AuditLogOptions, auditLog } from './audit/audit-log.ts'
