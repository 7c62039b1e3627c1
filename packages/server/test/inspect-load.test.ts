import { memoryStore, type SessionStore } from '@allium/store'
import { expect, test } from 'vitest'
import { type FileView, inspector, type StoredTurnView } from '../src/inspect.ts'
import { agentOf, ask, kept, listen } from './kit.ts'

test('the inspector reads the files of a few requests at once, and the others wait', async () => {
  const store = memoryStore()
  let [reading, most] = [0, 0]
  const counted = <A extends unknown[], T>(read: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      most = Math.max(most, ++reading)
      await new Promise((resolve) => setImmediate(resolve))
      return read(...args).finally(() => reading--)
    }
  }
  const { agent } = kept(agentOf(['A picture.']), store)
  const sessions: SessionStore = { ...store, find: counted(store.find), history: counted(store.history) }
  const { url } = await listen(agent, { sessions, inspect: inspector({ access: () => 'own' }) })
  const image = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' }
  await (await ask(`${url}/sessions/a/runs`, { body: { input: [image] } })).text()
  const session = `${url}/inspect/sessions/a`
  const { turns } = (await (await ask(`${session}/turns`)).json()) as { turns: StoredTurnView[] }
  const file = turns.flatMap(({ messages }) => messages[0]?.content as unknown as FileView[])[0]?.file
  for (const path of [`${session}/turns`, `${session}/files/${file}`]) {
    most = 0
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(path)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(most).toBeLessThan(10)
  }
})
