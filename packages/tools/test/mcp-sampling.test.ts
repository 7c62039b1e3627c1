import { Agent, type Middleware } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type McpLayerOptions, mcp } from '../src/mcp.ts'
import { questionsFixture } from './mcp/questions.ts'

const call = (name: string, to = 'Oslo') => ({ name: `srv__${name}`, args: { to } })

async function world(steps: ScriptedStep[], options: Partial<McpLayerOptions>, layers: Middleware[] = []) {
  const server = await questionsFixture()
  onTestFinished(async () => void (await server.stop()))
  const model = scriptedModel(steps)
  const logger = { debug() {}, warn() {}, error() {} }
  const agent = new Agent({ model, logger, clock: manualClock(0), toolTimeout: 60_000, instructions: 'Ours.' })
  for (const layer of layers) agent.use(layer)
  agent.use(mcp({ name: 'srv', url: server.url, ...options }))
  onTestFinished(() => agent.dispose())
  return { ...server, model, session: agent.session({ principal: { userId: 'ann' } }) }
}

describe('a server that asks for an answer of the model', () => {
  it('gets one in the middle of its call, within the bounds that the app sets', async () => {
    const steps = [{ toolCalls: [call('think')] }, 'A city.', 'It is a city.']
    const { session, model, notes } = await world(steps, { sampling: { maxOutputTokens: 50 } })
    const { text, toolCalls } = await session.run('What is Oslo?')
    expect([text, toolCalls[0]?.result.content]).toEqual(['It is a city.', 'A city.'])
    expect(model.requests[1]).toMatchObject({
      messages: [{ role: 'system', content: 'Be short.' }, { role: 'user' }],
      tools: [],
      settings: { maxOutputTokens: 50, temperature: 0.5 },
    })
    expect(notes.at(-1)).toBe('scripted/model endTurn')
  })

  it('sees nothing of the conversation, and the conversation nothing of what it asked', async () => {
    const steps = [{ toolCalls: [call('think')] }, 'A city.', 'Done.']
    const { session, model } = await world(steps, { sampling: true })
    await session.run('My secret is Rumpelstiltskin.')
    expect(JSON.stringify(model.requests[1]?.messages)).not.toMatch(/Rumpel|Ours/)
    expect(JSON.stringify([...session.history])).not.toContain('Be short.')
  })

  it('is counted and guarded as any model call: inherited layers stand around it', async () => {
    const seen: string[] = []
    const watch: Middleware = {
      name: 'watch',
      inherit: true,
      async model(ctx, next) {
        seen.push(ctx.agent.name)
        return next()
      },
    }
    const { session } = await world([{ toolCalls: [call('think')] }, 'A city.', 'Done.'], { sampling: true }, [watch])
    const { usage } = await session.run('Go')
    expect(seen).toEqual(['agent', 'mcp:srv', 'agent'])
    expect(usage.calls).toBe(3)
  })

  it('passes the guards of an input: one that blocks it ends the turn, and no model is called', async () => {
    const guard: Middleware = {
      name: 'guard',
      inherit: true,
      turn(ctx, next) {
        ctx.onInput(({ content }) => {
          if (JSON.stringify(content).includes('Oslo?')) ctx.block('No.')
        })
        return next()
      },
    }
    const { session, model } = await world([{ toolCalls: [call('think')] }, 'Done.'], { sampling: true }, [guard])
    expect(await session.run('Go')).toMatchObject({ status: 'blocked', reason: 'No.' })
    expect(model.requests).toHaveLength(1)
  })

  it('is refused from one request too many in a call on', async () => {
    const steps = [{ toolCalls: [call('brood')] }, 'one', 'two', 'Done.']
    const { session } = await world(steps, { sampling: { perCall: 2 } })
    const { toolCalls } = await session.run('Go')
    expect(toolCalls[0]?.result.content).toMatch(/^one,two,.*refused/)
  })

  it('gives each of several calls at once its own answer', async () => {
    const cities = ['Oslo', 'Rome']
    const calls = { toolCalls: cities.map((to) => call('think', to)) }
    const echo = scriptedModel([calls])
    const { session } = await world([], {
      sampling: { model: { id: 'echo', stream: (request) => scriptedModel([said(request.messages)]).stream(request) } },
    })
    const { toolCalls } = await session.run('Go', { model: two(echo) })
    expect(toolCalls.map(({ result }) => result.content)).toEqual(['Oslo?', 'Rome?'])
  })

  it('is not asked where sampling is off, as it is by default', async () => {
    const { session, model, notes } = await world([{ toolCalls: [call('think')] }, 'Done.'], {})
    await session.run('Go')
    expect(model.requests).toHaveLength(2)
    expect(notes.join()).not.toContain('endTurn')
  })
})

function said(messages: readonly { content: unknown }[]): string {
  const parts = (messages.at(-1)?.content ?? []) as { text: string }[]
  return parts.map(({ text }) => text).join('')
}

/** The calls, then an end. */
function two(first: ReturnType<typeof scriptedModel>): ReturnType<typeof scriptedModel> {
  const last = scriptedModel(['Done.'])
  let calls = 0
  return { ...last, stream: (request) => (calls++ === 0 ? first : last).stream(request) }
}
