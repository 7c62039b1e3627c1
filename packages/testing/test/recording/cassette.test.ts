import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@allium/core'
import { expect, it, onTestFinished } from 'vitest'
import { type CassetteOptions, cassette, loadCassette, scriptedModel } from '../../src/index.ts'

/** A file that is not there yet; `env` has neither CI nor a mode. */
async function place() {
  const dir = await mkdtemp(join(tmpdir(), 'allium-cassette-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return { dir: join(dir, 'deep'), path: join(dir, 'deep', 'tape.json') }
}

/** One test of an agent, with a cassette. */
async function test(path: string, options: CassetteOptions = {}, question = 'Hi') {
  const tape = await cassette(path, { env: {}, ...options })
  const { text } = await new Agent({ model: tape.model }).run(question)
  await tape.done()
  return { text, mode: tape.mode }
}

it('records where the file is missing, then replays it without asking for a model', async () => {
  const { path, dir } = await place()
  const live = scriptedModel(['Hello.'])
  expect(await test(path, { model: () => live })).toEqual({ text: 'Hello.', mode: 'record' })
  const model = () => expect.fail('a replay needs no model')
  expect(await test(path, { model })).toEqual({ text: 'Hello.', mode: 'replay' })
  expect([live.calls, await readdir(dir)]).toEqual([1, ['tape.json']])
})

it('writes a file that people can review: a chunk is a line', async () => {
  const { path } = await place()
  await test(path, { model: scriptedModel(['Hello there.']) })
  expect(await readFile(path, 'utf8')).toBe(`{
  "version": 1,
  "model": "scripted/model",
  "entries": [
    {
      "request": {
        "messages": [{"role":"user","content":"Hi"}],
        "tools": [],
        "toolChoice": "auto",
        "settings": {},
        "responseFormat": {"type":"text"}
      },
      "chunks": [
        {"type":"text-delta","delta":"Hello"},
        {"type":"text-delta","delta":" there."},
        {"type":"finish","reason":"stop","usage":{"inputTokens":10,"outputTokens":5}}
      ]
    }
  ]
}
`)
})

it.each(['true', '1', 'woodpecker'])('does not record in CI (CI=%s), but says what to do', async (CI) => {
  const { path } = await place()
  const attempt = test(path, { model: scriptedModel(['Hello.']), env: { CI } })
  await expect(attempt).rejects.toMatchObject({ code: 'test.cassette' })
  await expect(attempt).rejects.toThrow(/No recording at .*tape\.json, and CI does not record.*ALLIUM_CASSETTES=record/)
})

it('records anew when the environment or the mode says so, in CI too', async () => {
  const { path } = await place()
  const env = { CI: 'true', ALLIUM_CASSETTES: 'record' }
  await test(path, { model: scriptedModel(['old']), env })
  await test(path, { model: scriptedModel(['new']), mode: 'record' })
  expect((await test(path, { mode: 'replay' })).text).toBe('new')
})

it('refuses a mode that it does not know, a replay without a file, a recording without a model', async () => {
  const { path } = await place()
  await expect(test(path, { env: { ALLIUM_CASSETTES: 'once' } })).rejects.toThrow('record, replay or auto')
  await expect(test(path, { mode: 'replay' })).rejects.toThrow('No recording at')
  await expect(test(path)).rejects.toThrow('No model to record')
})

it('leaves the old file where a test fails before its end, and where no call came', async () => {
  const { path } = await place()
  await test(path, { model: scriptedModel(['old']) })
  await expect(test(path, { mode: 'record', model: scriptedModel([]) })).rejects.toMatchObject({ code: 'test.script' })
  const unused = await cassette(path, { mode: 'record', model: scriptedModel([]) })
  await expect(unused.done()).rejects.toThrow('No model call was recorded')
  expect((await test(path)).text).toBe('old')
})

it('asks a file for what it has, never the model: another question fails and names the file', async () => {
  const { path } = await place()
  const model = scriptedModel(['one', 'two'])
  await test(path, { model })
  await expect(test(path, { model }, 'Other')).rejects.toThrow(
    /tape\.json has no such request[\s\S]*- user: Hi\n\+ user: Other/,
  )
  expect(model.calls).toBe(1)
})

it('names a file that is damaged, or of a later version', async () => {
  const { path, dir } = await place()
  await test(path, { model: scriptedModel(['x']) })
  await writeFile(path, '{"version": 1')
  await expect(loadCassette(path)).rejects.toThrow('tape.json is not JSON. Record it again.')
  await writeFile(path, '{"version": 9}')
  await expect(loadCassette(path)).rejects.toThrow('it has the version 9, not 1')
  expect(await loadCassette(join(dir, 'none.json'))).toBeUndefined()
})
