import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from 'allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runExample } from '../../run-example.ts'
import { createDeskAgent } from '../src/desk-agent.ts'
import { weatherServer } from '../src/servers/weather.ts'

describe('the tools of two MCP servers', { timeout: 60_000 }, () => {
  it('shows calls, an approval, a killed server, and one that stops and returns', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    const [, both, approval, killed, away, back] = out.split('── ') as [string, string, string, string, string, string]
    expect(both).toMatch(/^ok +weather_today .*\n +Rain in Oslo, 4 °C\.$/m)
    expect(both).toMatch(/^offered +tickets__list, tickets__delete, weather_today$/m)
    expect(approval).toMatch(/^suspended tickets__delete [\s\S]*^ok +tickets__delete .*\n +Deleted ticket 2\.$/m)
    expect(killed).toMatch(/^ok +tickets__list .*\n +1: No light in the hall · 3: The lift is stuck$/m)
    expect(killed).toMatch(/by another process: true$/m)
    // The message depends on whether the call or the transport notices the closed socket first.
    expect(away).toMatch(/^error +weather_today .*\n +The MCP server "weather" (was lost|is not connected)/m)
    expect(away).toMatch(/^completed I cannot tell/m)
    expect(back).toMatch(/^ok +weather_today .*\n +Rain in Oslo, 4 °C\.$/m)
  })

  it('deletes nothing after a denial', async () => {
    const { agent, ticketsFile } = await desk('right-token')
    const session = agent.session()
    expect((await session.run('Delete it')).status).toBe('suspended')
    await session.resume({ c1: { deny: 'Keep it.' } })
    expect(readFileSync(ticketsFile, 'utf8')).toBe('{"1":"Kept"}')
  })

  it('fails to start without a server, and does not reveal the token', async () => {
    const { agent } = await desk('wrong-token')
    const error = await agent.init().then(
      () => expect.fail('it began'),
      (error) => error as Error & { code: string },
    )
    expect(error.code).toBe('mcp.unreachable')
    expect(String(error.stack) + JSON.stringify(error)).not.toContain('wrong-token')
  })
})

/** An agent with one ticket, whose model tries to delete it. The weather server requires the right token. */
async function desk(token: string) {
  const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-test-'))
  const ticketsFile = join(folder, 'tickets.json')
  writeFileSync(ticketsFile, '{"1":"Kept"}')
  const { url, stop } = await weatherServer('right-token')
  const model = scriptedModel([{ toolCalls: [{ name: 'tickets__delete', callId: 'c1', args: { id: '1' } }] }, 'No.'])
  const logger = { warn() {}, error() {} }
  const agent = createDeskAgent({ model, ticketsFile, weather: { url, token }, logger })
  onTestFinished(async () => {
    await agent.dispose()
    await stop()
    rmSync(folder, { recursive: true })
  })
  return { agent, ticketsFile }
}
