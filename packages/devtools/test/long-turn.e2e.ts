import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { openPage, openView, startProject } from './project.ts'

const steps = 10_000

/** Collects the largest number of rows in the document. */
const observe = `
  window.rows = 0
  setInterval(() => {
    window.rows = Math.max(window.rows, document.querySelectorAll('.virtual-row, .chat-row, li, tr, .sent, [role=option]').length)
  }, 50)
`

test('a turn of 10,000 steps keeps at most 300 rows in the document, and its tasks are as short as those of a short turn', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  const short = await measure(page, steps / 10)
  const most = Math.max(100, 3 * short.longest)
  let long = await measure(page, steps)
  // On a machine that is busy with other work, one task may use far more CPU time than it needs.
  for (let again = 0; again < 2 && long.longest > most; again++) long = await measure(page, steps)
  expect(long.rows).toBeLessThanOrEqual(300)
  expect(long.longest).toBeLessThanOrEqual(most)
  expect(faults).toEqual([])
}, 300_000)

/** Shows the turn and uses each view. Returns the CPU time in ms of the page's longest task, and the largest number of rows. */
async function measure(page: Page, steps: number): Promise<{ longest: number; rows: number }> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
  await feed(page, steps)
  await page.getByRole('button', { name: /long/ }).click({ timeout: 60_000 })
  await page.getByText('All done.').waitFor({ timeout: 60_000 })
  await page.getByText(`${(steps * 3 + 2).toLocaleString('en')} spans`).waitFor({ timeout: 60_000 })
  for (const view of ['State', 'Events', 'Usage', 'Logs', 'Agent', 'Onion']) await openView(page, view)
  await page.getByRole('tree').focus()
  for (const key of ['End', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'PageUp', 'Home']) await page.keyboard.press(key)
  for (let time = 0; time < 3; time++) await page.getByRole('button', { name: 'Show earlier', exact: true }).click()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search commands' }).fill('long')
  await page.keyboard.press('Enter')
  const rows = await page.evaluate<number>('rows')
  return { longest: longestTask(await browser?.stopTracing()), rows }
}

/** The unit of a trace is the microsecond. `tdur` is CPU time: other processes prolong the elapsed time of each task. */
function longestTask(trace: Buffer | undefined): number {
  const { traceEvents } = JSON.parse(`${trace}`) as {
    traceEvents: { name: string; tid: number; tdur?: number; args: { name?: string } }[]
  }
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && threads.some(({ tid }) => tid === event.tid))
  expect(tasks.length).toBeGreaterThan(100)
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000))
}

/** Sends the records of a long turn instead of the feed, after the page has reconnected to it. */
async function feed(page: Page, steps: number): Promise<void> {
  // A response that Playwright fulfills reaches the page in one piece, and so in one task.
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    Readable.from(recordsOfLongTurn(steps)).pipe(response, { end: false })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  let isSent = false
  await page.unrouteAll()
  await page.route('**/api/inspect/feed*', async (route) => {
    if (isSent) return
    isSent = true
    await route.continue({ url })
  })
  await page.reload()
  await page.evaluate(observe)
}

function recordsOfLongTurn(steps: number): string[] {
  const turn = { turnId: 't', sessionId: 'long', tenant: '', owner: 'developer' }
  const principal = { userId: 'developer' }
  const event = (fields: object) => ({ type: 'event', ...turn, event: fields, at: 1 })
  const open = (id: number, parent: number | undefined, fields: object) => ({
    type: 'open',
    turnId: 't',
    id,
    parent,
    core: false,
    start: id,
    ...fields,
  })
  const close = (id: number) => ({
    type: 'close',
    turnId: 't',
    id,
    duration: 2,
    self: 1,
    decision: 'passed',
    entered: 1,
  })
  const records: object[] = [
    { type: 'turn', ...turn, agent: 'support', principal, turnIndex: 0, resumed: false, startedAt: 1 },
    event({ type: 'turn:start', turnId: 't', sessionId: 'long' }),
    open(1, undefined, { layer: 'desk', scope: 'turn' }),
    open(2, 1, { layer: 'loop', scope: 'turn', core: true }),
  ]
  const tools = [{ name: 'look_up', description: 'Looks up.', jsonSchema: {} }]
  for (let step = 0; step < steps; step++) {
    const [id, callId] = [3 + step * 3, `c${step}`]
    const call = {
      role: 'assistant',
      content: [{ type: 'tool-call', callId, name: 'look_up', args: { number: `${step}` } }],
    }
    const result = { role: 'tool', content: [{ type: 'tool-result', callId, name: 'look_up', content: 'a lamp' }] }
    const settings = { settings: {}, toolChoice: 'auto', responseFormat: { type: 'text' } }
    const usage = { inputTokens: 10, outputTokens: 5, calls: 1 }
    records.push(
      event({ type: 'step:start', stepIndex: step }),
      open(id, 2, { layer: 'desk', scope: 'model', subject: 'openai/gpt-5-mini' }),
      open(id + 1, id, { layer: 'openai/gpt-5-mini', scope: 'model', core: true }),
      {
        type: 'request',
        turnId: 't',
        id: id + 1,
        model: 'openai/gpt-5-mini',
        keep: step * 2,
        messages: [call, result],
        tools,
        ...settings,
      },
      {
        type: 'response',
        turnId: 't',
        id: id + 1,
        model: 'openai/gpt-5-mini',
        text: 'Looking.',
        toolCalls: [],
        finishReason: 'stop',
        usage,
      },
      close(id + 1),
      close(id),
      { type: 'state', turnId: 't', sessionId: 'long', id, layer: 'desk', key: 'desk:n', value: step, at: 1 },
      event({ type: 'text-delta', delta: 'Looking.' }),
      event({ type: 'tool-input-start', callId, name: 'look_up' }),
      event({ type: 'tool:start', callId, name: 'look_up', args: { number: `${step}` } }),
      open(id + 2, 2, { layer: 'look_up', scope: 'tool', core: true, subject: 'look_up', callId }),
      close(id + 2),
      event({ type: 'tool:end', callId, name: 'look_up', status: 'ok', content: 'a lamp', isError: false }),
      event({ type: 'step:end', stepIndex: step }),
    )
  }
  records.push(event({ type: 'text-delta', delta: 'All done.' }), close(2), close(1))
  records.push(
    event({
      type: 'turn:end',
      status: 'completed',
      usage: { inputTokens: 100_000, outputTokens: 50_000, calls: steps },
    }),
  )
  const frames: string[] = []
  for (let at = 0; at < records.length; at += 200)
    frames.push(`id: epoch.${at}\ndata: ${JSON.stringify(records.slice(at, at + 200))}\n\n`)
  return frames
}
