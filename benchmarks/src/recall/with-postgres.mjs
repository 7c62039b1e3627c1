import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ownServer } from '../../../packages/store-postgres/test/server.ts'

// `npm run bench -- recall --postgres`. It runs with tsx, because the Postgres is that of the tests. The measurement runs without.

const server = await ownServer()
if (server === undefined) throw new Error('No Postgres found for this machine.')
const program = fileURLToPath(new URL('on-postgres.mjs', import.meta.url))
const [code] = await once(spawn(process.execPath, [program, server.url], { stdio: 'inherit' }), 'exit')
await server.end()
process.exit(code)
