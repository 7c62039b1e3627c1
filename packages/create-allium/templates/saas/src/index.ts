import { existsSync } from 'node:fs'
import { serve } from '@allium/server/node'
import { createApp } from './app.ts'
import { chooseModel } from './model.ts'
import { buildPage } from './page.ts'
import { openSecret } from './secret.ts'
import { openStore } from './store.ts'

if (existsSync('.env')) process.loadEnvFile('.env')
const { env } = process

const data = env.DATA ?? '.data'
const { model, note } = chooseModel(env)
const { store, note: storeNote } = await openStore(data)
const app = await createApp({
  model,
  store,
  secret: openSecret(env, `${data}/secret`),
  page: await buildPage(),
  publicUrl: env.PUBLIC_URL ? new URL(env.PUBLIC_URL) : undefined,
})
const { url, server } = await serve(app.server, { port: Number(env.PORT || 3000), hostname: env.HOST || '127.0.0.1' })
// Ctrl-C and SIGTERM let active runs end, then close the server.
server.once('close', async () => {
  await app.close()
  await store.close()
})
console.log(`\n  Open   ${url}\n  Model  ${note}\n  Store  ${storeNote}\n\n  Ctrl-C stops the server.\n`)
