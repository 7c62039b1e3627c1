import { Agent, type Session } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type McpLayerOptions, mcp } from '../src/mcp.ts'
import { questionsFixture } from './mcp/questions.ts'

const call = (name: string, to = 'Oslo') => ({ name: `srv__${name}`, args: { to } })

async function world() {
  const server = await questionsFixture()
  onTestFinished(async () => void (await server.stop()))
  const clock = manualClock(0)
  const agentWith = (steps: ScriptedStep[], options: Partial<McpLayerOptions> = {}) => {
    const logger = { debug() {}, warn() {}, error() {} }
    const agent = new Agent({ model: scriptedModel(steps), logger, clock, toolTimeout: 60_000 })
    agent.use(mcp({ name: 'srv', url: server.url, ...options }))
    onTestFinished(() => agent.dispose())
    return agent
  }
  return { ...server, clock, agentWith }
}
const decided = (session: Session<{}>, data: unknown, nth = 0) => ({
  [session.pending[nth]?.callId ?? '']: { approve: true as const, data },
})

describe('a question of an MCP server', () => {
  it('suspends the run with its schema, and the call goes on with the answers of resume', async () => {
    const { agentWith, notes } = await world()
    const session = agentWith([{ toolCalls: [call('book')] }, 'Booked.']).session()
    expect((await session.run('Book')).status).toBe('suspended')
    expect(session.pending).toMatchObject([
      {
        name: 'srv__book',
        expiresAt: 600_000,
        request: {
          reason: 'The MCP server "srv" asks: How many to Oslo?',
          question: { message: 'How many to Oslo?', schema: { required: ['seats'] } },
        },
      },
    ])
    const { text, toolCalls } = await session.resume(decided(session, { seats: 2 }))
    expect([text, toolCalls[0]?.result.content]).toEqual(['Booked.', 'Oslo: {"seats":2}'])
    expect(notes).toEqual(['book begins', 'How many to Oslo? accept'])
  })

  it('asks again, with what was wrong, for answers that do not fit', async () => {
    const { agentWith, notes } = await world()
    const session = agentWith([{ toolCalls: [call('book')] }, 'Booked.']).session()
    await session.run('Book')
    for (const wrong of ['two', [2], null, {}, { seats: 'two' }, { seats: 0 }])
      expect((await session.resume(decided(session, wrong))).status).toBe('suspended')
    expect(session.pending[0]?.request?.problem).toContain('seats')
    expect(notes).toEqual(['book begins'])
    await session.resume(decided(session, { seats: 1 }))
    expect(notes).toEqual(['book begins', 'How many to Oslo? accept'])
  })

  it('asks one thing after the other in one call', async () => {
    const { agentWith, notes } = await world()
    const session = agentWith([{ toolCalls: [call('trip')] }, 'Booked.']).session()
    await session.run('Book')
    await session.resume(decided(session, { seats: 1 }))
    const { toolCalls } = await session.resume(decided(session, { seats: 2 }))
    expect(toolCalls[0]?.result.content).toBe('Oslo: {"seats":1},{"seats":2}')
    expect(notes).toEqual(['trip begins', 'How many to Oslo? accept', 'And back? accept'])
  })

  it('gives each of several calls at once its own answers', async () => {
    const { agentWith } = await world()
    const cities = ['Oslo', 'Bergen', 'Rome', 'Paris']
    const session = agentWith([{ toolCalls: cities.map((to) => call('book', to)) }, 'Booked.']).session()
    await session.run('Book')
    const seatsOf = (to: unknown) => ({ seats: String(to).length })
    const decisions = session.pending.map(({ callId, args }) => [
      callId,
      { approve: true as const, data: seatsOf(args.to) },
    ])
    const { toolCalls } = await session.resume(Object.fromEntries(decisions))
    expect(toolCalls.map(({ result }) => result.content)).toEqual(
      cities.map((to) => `${to}: ${JSON.stringify(seatsOf(to))}`),
    )
  })

  it('is declined where the call is denied', async () => {
    const { agentWith, notes } = await world()
    const session = agentWith([{ toolCalls: [call('book')] }, 'Not booked.']).session()
    await session.run('Book')
    const { toolCalls } = await session.resume({ [session.pending[0]?.callId ?? '']: { deny: 'Too dear.' } })
    expect(toolCalls[0]?.result.status).toBe('denied')
    await vi.waitFor(() => expect(notes).toEqual(['book begins', 'How many to Oslo? decline']), 15_000)
  })

  it('is declined when nobody answers by expiresAt, and an answer is refused from then on', async () => {
    const { agentWith, notes, clock } = await world()
    const session = agentWith([{ toolCalls: [call('book')] }, 'x'], { elicitation: { expiresIn: 1_000 } }).session()
    await session.run('Book')
    const late = decided(session, { seats: 2 })
    await clock.advance(1_000)
    await vi.waitFor(() => expect(notes).toEqual(['book begins', 'How many to Oslo? decline']), 15_000)
    await expect(session.resume(late)).rejects.toMatchObject({ code: 'approval.expired' })
    expect(notes).toHaveLength(2)
  })

  it('is asked in a call made anew where another process resumes, and answered without asking a human again', async () => {
    const { agentWith, notes } = await world()
    const first = agentWith([{ toolCalls: [call('trip')] }]).session()
    await first.run('Book')
    await first.resume(decided(first, { seats: 1 }))
    const second = agentWith(['Booked.']).session()
    second.restore(JSON.parse(JSON.stringify(first.snapshot())))
    const { toolCalls } = await second.resume(decided(second, { seats: 2 }))
    expect(toolCalls[0]?.result.content).toBe('Oslo: {"seats":1},{"seats":2}')
    const accepts = ['How many to Oslo? accept', 'And back? accept']
    expect(notes).toEqual(['trip begins', accepts[0], 'trip begins', ...accepts])
  })

  it('is not put where elicitation is off', async () => {
    const { agentWith, notes } = await world()
    const session = agentWith([{ toolCalls: [call('book')] }, 'x'], { elicitation: false }).session()
    const { toolCalls } = await session.run('Book')
    expect(toolCalls[0]?.result).toMatchObject({ isError: true, error: { code: 'mcp.refused' } })
    expect(notes).toEqual(['book begins'])
  })
})
