import { postgres } from '@allium/store-postgres'
import { messageOf } from 'allium'
import { readEnv } from './env.ts'
import { billing } from './store.ts'

/** Creates or migrates the tables, as a step of a deploy. The server then runs with `SAAS_MIGRATE=check`. */
const store = postgres({ url: readEnv(process.env).DATABASE_URL, consumers: [billing] })
try {
  await store.ready()
  console.log('The tables have the current version.')
} catch (error) {
  process.exitCode = 1
  console.error(`The migration failed: ${messageOf(error)}`)
} finally {
  await store.close()
}
