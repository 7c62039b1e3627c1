export { postgresSql } from './migrations/migrations.ts'
