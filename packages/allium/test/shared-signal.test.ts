import { expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent } from '../src/index.ts'
import * as observe from '../src/observe.ts'
import { scriptedModel } from '../src/testing.ts'
import * as tools from '../src/tools.ts'

it('warns of no listener where twenty calls at once wait on the signal of their run', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => warnings.push(name)
  process.on('warning', note)
  const tick = () => new Promise<void>((resolve) => setTimeout(resolve))
  const slow = { name: 'slow', description: 'Slow', jsonSchema: {}, execute: () => tick().then(() => 'ok') }
  const toolCalls = Array.from({ length: 20 }, (_, i) => ({ name: 'slow', callId: `c${i}` }))
  const agent = new Agent({ model: scriptedModel([{ toolCalls }, 'done']), tools: [slow], toolConcurrency: 20 })
    .use(tools.cache({ tools: ['slow'] }))
    .use(observe.audit({ sink: tick }))
    .use(guard.concurrency({ limit: 1 }))
  expect((await agent.run('hi')).text).toBe('done')
  await tick()
  process.off('warning', note)
  expect(warnings).toEqual([])
})
