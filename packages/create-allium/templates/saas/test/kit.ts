import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from 'allium/testing'
import { onTestFinished } from 'vitest'
import { createApp } from '../src/app.ts'

export const ann = { email: 'ann@acme.test', password: 'correct horse' }
export const bob = { email: 'bob@globex.test', password: 'battery staple' }

/** Starts the app on an empty store. The model plays the given answers. */
export async function start(...answers: Parameters<typeof scriptedModel>[0]) {
  const store = sqlite(':memory:')
  const page = { html: '', script: '', style: '' }
  const model = scriptedModel(answers, { id: 'openai/gpt-5-mini' })
  const app = await createApp({
    model,
    store,
    page,
    secret: 'a secret for tests, 32 characters',
  })
  onTestFinished(async () => {
    await app.close()
    store.close()
  })

  async function ask(path: string, { body, cookie }: { body?: object; cookie?: string } = {}) {
    const headers = { 'content-type': 'application/json', origin: 'http://localhost', ...(cookie && { cookie }) }
    const method = body ? 'POST' : 'GET'
    return app.server.fetch(
      new Request(`http://localhost${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    )
  }

  /** Creates an account and returns its cookie. */
  async function signUp(credentials: object): Promise<string> {
    const { headers } = await ask('/sign-up', { body: credentials })
    return headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  return { ask, signUp }
}
