import { postgres } from '@allium/store-postgres'
import { ownServer } from '../../../packages/store-postgres/test/server.ts'
import { postgresCpu } from '../request/scale/postgres-cpu.mjs'
import { recallReport } from './run.mjs'

// `npm run bench -- recall --postgres`. It runs with tsx, because the Postgres is that of the tests.

const server = await ownServer()
const open = (schema) => postgres({ url: server.url, schema })
try {
  const tell = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${text}`)
  console.log(await recallReport(tell, server && { open, cpu: postgresCpu }))
  if (server === undefined) console.log('No Postgres found for this machine.')
} finally {
  await server?.end()
}
process.exit()
