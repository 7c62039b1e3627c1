import { describe, expect, it, onTestFinished } from 'vitest'
import { runExample } from '../../run-example.ts'
import { anthropicServer } from '../src/servers/anthropic-server.ts'
import { refuse, type Served, serve } from '../src/servers/serve.ts'
import { createSupportAgent } from '../src/support-agent.ts'

const key = 'sk-planted-secret-4711'

describe('a fallback across providers', { timeout: 60_000 }, () => {
  it('shows two retries, a reset after a cut stream, the fallback, and the exact usage', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      inOrder(
        'attempt 1 failed (429), again in 50 ms',
        'attempt 2 failed (503), again in 40 ms',
        'shows     "Your parcel is on"',
        'fallback  openai/gpt-5-mini → anthropic/claude-sonnet-4-6',
        'reset ',
        'completed: "Your parcel arrives today.", equal to the shown text: true',
        '4 calls, 35 tokens in, 12 out, partly estimated',
        'completed: "You are welcome.", equal to the shown text: true',
        '1 call, 30 tokens in, 5 out',
        'openai/gpt-5-mini: 4 calls, 45 tokens in, 10 out',
        'anthropic/claude-sonnet-4-6: 1 call, 20 tokens in, 7 out',
      ),
    )
    expect(out).not.toContain('is on arrives')
    expect(out.match(/^OpenAI POST/gm)).toHaveLength(4)
    expect(out.match(/^Anthropic POST/gm)).toHaveLength(1)
  })

  it('calls the other provider immediately if a retry cannot help', async () => {
    const openAi = await serve('OpenAI', [{ as: '401', answer: refuse(401, 'No such key.') }])
    const anthropic = await anthropicServer()
    const { text } = await agentFor(openAi, anthropic).run('Where is my parcel?')
    expect([text, openAi.log.length]).toEqual(['Your parcel arrives today.', 1])
  })

  it('fails with the error of the last provider if all fail, and reveals no key', async () => {
    const openAi = await serve('OpenAI', [{ as: '503', answer: refuse(503, 'Overloaded.') }])
    const anthropic = await serve('Anthropic', [{ as: '529', answer: refuse(529, 'Overloaded.') }])
    const error = await agentFor(openAi, anthropic)
      .run('Where is my parcel?')
      .then(
        () => expect.fail('it worked'),
        (error) => error as Error & { status?: number },
      )
    expect([error.status, openAi.log.length, anthropic.log.length]).toEqual([529, 3, 3])
    expect([error.message, error.stack, JSON.stringify(error)].join()).not.toContain(key)
  })
})

function agentFor(openAi: Served, anthropic: Served) {
  onTestFinished(() => {
    openAi.close()
    anthropic.close()
  })
  return createSupportAgent({
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: openAi.url,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: anthropic.url,
  })
}

function inOrder(...texts: string[]): RegExp {
  const escaped = texts.map((text) => text.replace(/[.()[\]/]/g, '\\$&'))
  return new RegExp(escaped.join('[\\s\\S]*'))
}
