import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { programFlags } from '../../../e2e/program-flags.ts'
import { openBrowser, picture } from '../../saas-backend/test/browser.ts'

const whole = 'The train leaves at nine, and the room is yours from three o’clock on. Have a good journey!'

test('a page continues after its server was killed in mid-answer, without a second booking', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'allium-durable-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, port] = [join(folder, 'journey.db'), await freePort()]
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const first = await start(file, port)
  await page.goto(`http://127.0.0.1:${port}`)
  await page.getByRole('button', { name: 'Book' }).click()
  await page.getByText('The train leaves').waitFor()
  await first.kill()
  await page.getByText('The server cannot be reached').waitFor()
  await start(file, port)
  await page.getByText('The run is completed.').waitFor()
  expect(await page.locator('#answer').textContent()).toBe(whole)
  expect((await page.locator('#booked li').allTextContents()).sort()).toEqual(['the room', 'the train'])
  expect(readFileSync(`${file}.log`, 'utf8').trim().split('\n').sort()).toEqual(['room', 'train'])
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture(page, 'durable')
}, 240_000)

/** Starts the program, and waits for its address. */
async function start(file: string, port: number) {
  const program = fileURLToPath(new URL('../src/page.ts', import.meta.url))
  const args = [...programFlags, program]
  const env = { ...process.env, DURABLE_FILE: file, PORT: String(port) }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const kill = () => {
    child.kill('SIGKILL')
    return closed
  }
  onTestFinished(kill)
  await Promise.race([
    new Promise((resolve) => child.stdout.once('data', resolve)),
    closed.then(() => expect.fail('The program has ended.')),
  ])
  return { kill }
}
