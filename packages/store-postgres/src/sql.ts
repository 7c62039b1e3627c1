export { postgresSql } from './migrations.ts'
