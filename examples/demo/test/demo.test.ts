import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nobody, ollamaServer, openAiServer } from './servers.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('the demo, with no key and no Ollama', { timeout: 20_000 }, () => {
  it('shows the answers, the denied refunds, the onion, the bill and the state, and exits by itself', async () => {
    const { code, out } = await run({ OLLAMA_HOST: nobody })
    expect(code).toBe(0)
    for (const shown of [
      'openai/gpt-5-mini',
      'look_up_order {"orderId":"A-1042"}',
      'Order A-1042 was delivered',
      'Refunded $180 of order A-1042',
      'the model answered 429; attempt 2 follows',
      'Refunds over $500 need a person',
      'No order A-1042.',
      'Refunds over $50 need a person',
      /^cost +\$0\.00\d+ of/m,
      /^usage +8 model calls, [\d,]+ tokens in/m,
      'refunds:paid = 180, refunds:denied = 1',
      'refunds:paid = 0, refunds:denied = 1',
    ])
      expect(out).toMatch(shown)
  })

  it('draws the layers of each turn as a tree, from the outermost in', async () => {
    const { out } = await run({ OLLAMA_HOST: nobody })
    const tree = out.slice(out.indexOf('onion'), out.indexOf('usage'))
    const depth = (layer: string) =>
      tree
        .split('\n')
        .find((line) => line.includes(layer))
        ?.indexOf(layer)
    expect(depth('model:retry')).toBeLessThan(depth('guard:budget')!)
    expect(depth('guard:budget')).toBeLessThan(depth('observe:usage')!)
    expect(tree).toMatch(/refund-policy +\d+\.\d ms +denied/)
    expect(tree).toMatch(/model:retry +\d+\.\d ms +retried once/)
  })

  it('writes no colours to a pipe', async () => {
    const { out } = await run({ OLLAMA_HOST: nobody })
    expect(out).not.toContain('\u001b')
  })

  it('writes an answer while it comes, and is aborted by Ctrl-C', async () => {
    const { code, out } = await run({ OLLAMA_HOST: nobody }, ({ seen, child }) => {
      if (seen.includes('Order A-1042 was')) child.kill('SIGINT')
    })
    expect(code).toBe(130)
    expect(out).toContain('stopped')
    expect(out).not.toContain('not as it should be')
  })
})

describe('the demo, with a model of yours', { timeout: 20_000 }, () => {
  it('asks the one of ALLIUM_MODEL', async () => {
    const { url } = await openAiServer('Let me', ' see.')
    const { code, out } = await run({
      ALLIUM_MODEL: 'openai/gpt-5-mini',
      OPENAI_API_KEY: 'key-1',
      OPENAI_BASE_URL: `${url}/v1`,
    })
    expect(code).toBe(0)
    expect(out).toContain('ALLIUM_MODEL names it')
    expect(out).toContain('Let me see.')
  })

  it('says which key is missing, and exits with 1', async () => {
    const { code, err } = await run({ ALLIUM_MODEL: 'openai/gpt-5-mini' })
    expect(code).toBe(1)
    expect(err).toContain('OPENAI_API_KEY')
    expect(err).not.toContain('    at ')
  })

  it('asks a local Ollama, at no cost', async () => {
    const { host } = await ollamaServer({ models: ['qwen3:4b'], pieces: ['Let me', ' see.'] })
    const { code, out } = await run({ OLLAMA_HOST: host })
    expect(code).toBe(0)
    expect(out).toContain('ollama/qwen3:4b')
    expect(out).toContain('Let me see.')
    expect(out).toContain('cost      $0.00 of')
  })
})

/** Runs `npm run demo` with these variables alone; `watch` sees what it has written so far. */
async function run(
  env: Record<string, string>,
  watch: (now: { seen: string; child: ReturnType<typeof spawn> }) => void = () => {},
) {
  const child = spawn(process.execPath, ['--conditions=@allium/source', '--import=tsx', 'examples/demo/src/index.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
    watch({ seen: out, child })
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}
