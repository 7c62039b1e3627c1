import { type ClientRun, createClient } from '@allium/server/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anyServer as anyPostgres } from '../../../packages/store-postgres/test/server.ts'
import { ownServer as ownRedis } from '../../../packages/store-redis/test/server.ts'
import story from '../data/story.json' with { type: 'json' }
import { demoKeys } from '../src/demo-keys.ts'
import { openBrowser, pageOf, say } from './browser.ts'
import { type Demo, dataFolder, startDemo } from './demo.ts'
import { roundRobin } from './proxy.ts'

const [{ key }] = demoKeys
const policy = story.fixtures.find(({ match }) => match.userMessage === 'returns policy')?.response.content as string

type Env = Record<string, string>
const stores: [string, () => Promise<Env | undefined>][] = [
  ['SQLite', async () => ({})],
  ['Postgres and Redis', databases],
]

async function databases(): Promise<Env | undefined> {
  const [postgres, redis] = await Promise.all([anyPostgres(), ownRedis()])
  onTestFinished(async () => void (await Promise.all([postgres?.end(), redis?.end()])))
  return postgres && redis && { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
}

/** Two processes of the product behind a proxy, until the test is over. */
async function product(open: () => Promise<Env | undefined>) {
  const env = await open()
  // `.ci/run` installs both. Without them, only SQLite is tested.
  if (env === undefined) return undefined
  const { dir, remove } = dataFolder()
  const demos = await Promise.all([0, 1].map(() => startDemo({ ...env, SAAS_DATA: dir })))
  const proxy = await roundRobin(demos.map(({ url }) => url))
  onTestFinished(async () => {
    proxy.close()
    await Promise.all(demos.map((demo) => demo.kill('SIGKILL')))
    remove()
  })
  const client = createClient({
    url: `${proxy.url}/api`,
    headers: () => ({ authorization: `Bearer ${key}` }),
    attempts: 8,
  })
  return { client, demos, proxy }
}

const textOf = (run: ClientRun) => run.then(({ text }) => text)

describe.each(stores)('two processes on %s', { timeout: 120_000 }, (_, open) => {
  test('a reader whose process is killed continues in the other one, and receives every word once', async ({
    skip,
  }) => {
    const made = await product(open)
    if (made === undefined) return skip()
    const { client, demos, proxy } = made
    const session = client.session('read')
    const run = session.run('Explain the returns policy.')
    await firstText(run)
    const runner = proxy.last('POST')
    // Of two readers of the run one is in the other process: the proxy takes turns.
    const readers = [session.follow(), session.follow()]
    await Promise.all(readers.map(firstText))
    await (demos[1 - runner] as Demo).kill('SIGKILL')
    expect(await Promise.all([run, ...readers].map(textOf))).toEqual([policy, policy, policy])
  })

  test('acknowledged messages survive a killed process, and a pending call is decided in the other process', async ({
    skip,
  }) => {
    const made = await product(open)
    if (made === undefined) return skip()
    const { client, demos, proxy } = made
    const [asked, cut] = [client.session('asked'), client.session('cut')]
    expect((await asked.run('Where is order A-1042?')).status).toBe('completed')
    const { pending } = await asked.run('Refund the dented camp stove of A-1042, and notify ann@acme.example.')
    const run = cut.run('Explain the returns policy.')
    await firstText(run)
    await (demos[proxy.last('POST')] as Demo).kill('SIGKILL')

    const [call] = pending
    expect(call?.args).toMatchObject({ amount: 180, notify: 'ann@acme.example' })
    expect(await textOf(asked.approve(call as never))).toContain('You do not need to return it.')
    expect((await asked.history()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    await expect(textOf(run)).rejects.toMatchObject({ code: 'run.interrupted' })
    expect((await cut.history()).messages.map(({ role }) => role)).toEqual(['user'])
    expect(await textOf(cut.run('Where is order A-1042?'))).toContain('was delivered')
  })

  test('a page whose process is killed continues by itself', async ({ skip }) => {
    const made = await product(open)
    if (made === undefined) return skip()
    const { demos, proxy } = made
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const { page } = await pageOf(browser, proxy.url, key)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    const reader = 1 - proxy.last('POST')
    proxy.pin('GET', reader)
    await page.reload()
    await page.getByText('What you can return').waitFor()
    await (demos[reader] as Demo).kill('SIGKILL')
    await page.getByText('Would you like to return an order?').waitFor({ timeout: 60_000 })
    await expect.poll(() => page.locator('.message').count()).toBe(2)
  })
})

async function firstText(run: ClientRun): Promise<void> {
  for await (const { type } of run) if (type === 'text-delta') return
}
