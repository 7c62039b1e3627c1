import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'
import { programFlags } from '../../../e2e/program-flags.ts'
import { nobody } from './servers.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe.concurrent('the demo as a process', { timeout: 120_000 }, () => {
  it('needs no key, shows the whole conversation, and ends by itself', async ({ expect }) => {
    const { code, out, err } = await run({ OLLAMA_HOST: nobody })
    expect(err).toBe('')
    expect(code).toBe(0)
    for (const shown of conversation) expect(out).toMatch(shown)
    const tree = out.slice(out.search(/^onion/m), out.search(/^usage/m))
    expect(layersOf(tree).slice(1, 7)).toEqual(outerLayers)
    expect(tree).toMatch(/model:retry +\d+\.\d ms +retried once/)
    expect(tree).toMatch(/refund-policy +\d+\.\d ms +denied/)
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(90)
    expect(out).not.toContain('\u001b') // a pipe takes no colours
  })

  it('writes an answer while it comes, and is aborted by Ctrl-C', async ({ expect }) => {
    const { code, out } = await run({ OLLAMA_HOST: nobody }, (seen) => seen.includes('Order A-1042 was'))
    expect(code).toBe(130)
    expect(out).toContain('Ctrl-C')
    expect(out).not.toContain('not as it should be')
  })

  it('reports an OLLAMA_HOST that is not an address, and exits with 1', async ({ expect }) => {
    const { code, err } = await run({ OLLAMA_HOST: 'http://' })
    expect(code).toBe(1)
    expect(err).toContain('OLLAMA_HOST is "http://"')
    expect(err).not.toContain('    at ')
  })

  it('says which key is missing, without a stack, and exits with 1', async ({ expect }) => {
    const { code, err } = await run({ ALLIUM_MODEL: 'openai/gpt-5-mini' })
    expect(code).toBe(1)
    expect(err).toContain('OPENAI_API_KEY')
    expect(err).not.toContain('    at ')
  })
})

const conversation = [
  'openai/gpt-5-mini',
  'look_up_order {"orderId":"A-1042"}',
  'Order A-1042 was delivered',
  'Refunded $180 of order A-1042',
  'attempt 1 failed (429), trying again',
  'Refunds over $500 need approval',
  /^person +no, send the goods back first \(scripted/m,
  'denied  The approver says no: send the goods back first.',
  'ticket acme-1-3',
  /^usage +7 model calls, [\d,]+ tokens in/m,
  /^cost +\$0\.00\d+, by/m,
  'refunds:paid = 180, refunds:denied = 1',
  'No order A-1042.',
  'Refunds over $50 need approval',
  /^person +yes \(scripted/m,
  'Refunded $98 of order G-2001',
  'refunds:paid = 98, refunds:denied = 0',
]

const outerLayers = [
  '└─ turn · guard:budget',
  '   └─ refund-desk',
  '      └─ loop',
  '         ├─ model openai/gpt-5-mini · tenant-brief',
  '         │  └─ model:retry',
  '         │     ├─ guard:budget',
]

/** Each line of an onion without its times and decisions. */
function layersOf(tree: string): string[] {
  return tree.split('\n').map((line) => line.replace(/ {2,}\d.*$/, ''))
}

/** Runs what `npm run demo` runs, with these variables alone, and interrupts it once `isTime`. */
async function run(env: Record<string, string>, isTime: (seen: string) => boolean = () => false) {
  const child = spawn(process.execPath, [...programFlags, 'examples/demo/src/index.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 110_000,
  })
  let out = ''
  let err = ''
  let interrupted = false
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
    if (!interrupted && isTime(out)) interrupted = child.kill('SIGINT')
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}
