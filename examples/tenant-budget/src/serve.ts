/** Starts only the backend, for requests with curl. */
import { listen } from './listen.ts'
import type { Principal } from './principal.ts'

const keys = new Map<string, Principal>([
  ['acme-dana', { tenantId: 'acme', userId: 'dana', plan: 'business' }],
  ['globex-hank', { tenantId: 'globex', userId: 'hank', plan: 'starter' }],
])
const { url, close } = await listen({ keys, log: console.error, port: Number(process.env.PORT ?? 8787) })
console.log(`${url}/chat accepts the keys ${[...keys.keys()].join(', ')}.`)
process.once('SIGINT', () => void close())
process.once('SIGTERM', () => void close())
