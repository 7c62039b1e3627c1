import { serve } from '@allium/server/node'
import { messageOf } from 'allium'
import { openAccounts } from './accounts.ts'
import { createApp } from './app.ts'
import { encryption } from './encryption.ts'
import { readEnv } from './env.ts'
import { openModels } from './model.ts'
import { openPages } from './pages.ts'
import { openSecret } from './secret.ts'
import { openStore } from './store.ts'
import { welcome } from './welcome.ts'

try {
  await start()
} catch (error) {
  console.error(`The demo could not start: ${messageOf(error)}`)
  // Open connections would keep the process alive, so that nothing restarts it.
  process.exit(1)
}

async function start(): Promise<void> {
  const env = readEnv(process.env)
  const hostname = env.HOST ?? '127.0.0.1'
  const publicUrl = env.PUBLIC_URL === undefined ? undefined : new URL(env.PUBLIC_URL)
  if (publicUrl !== undefined && env.SAAS_ACCOUNTS === undefined)
    throw new Error(
      'PUBLIC_URL is set, but the keys of the demo are public. Set SAAS_ACCOUNTS to a file with your own accounts.',
    )
  const secret = openSecret(env)
  const isDurable = env.SAAS_DURABLE !== undefined
  const storeOptions = isDurable ? { encrypt: encryption(secret) } : {}
  const [store, models, pages] = await Promise.all([
    openStore(env, storeOptions),
    openModels(env),
    openPages(env.SAAS_PAGES),
  ])
  const app = await createApp({
    store,
    models,
    pages,
    publicUrl,
    accounts: openAccounts(env.SAAS_ACCOUNTS),
    secret,
    isDurable,
  })
  const { url, server } = await serve(app.server, { port: Number(env.PORT ?? 3000), hostname })
  const posting = setInterval(() => void app.billing.post().catch(() => {}), 5000)
  server.once('close', async () => {
    clearInterval(posting)
    await app.close()
    await models.close()
    await store.close()
  })
  console.log(welcome({ url, store: store.name, models: models.name, keys: env.SAAS_ACCOUNTS === undefined }))
}
