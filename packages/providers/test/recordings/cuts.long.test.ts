import { isAlliumError, type Model, type ToolDef } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { request } from '../calls.ts'
import { ownTools } from './compare.ts'
import type { Version } from './packages.ts'
import { bytesOf, contentTypeOf, type Recording, replay } from './recording.ts'
import { cases } from './shapes/index.ts'

/** At every byte it takes minutes: `npm run recordings` does that, `npm test` goes by the edges of events and by steps. */
const step = process.env.ALLIUM_EVERY_BYTE === undefined ? 97 : 1

describe.each(cases)('$title', ({ recording, version }) => {
  it('cut before its end, in good order, is told as truncated, and gives no finish', async () => {
    const answer = recording.answers[0]!
    const whole = bytesOf(answer)
    const cuts = placesIn(answer).map((bytes) => whole.subarray(0, bytes))
    const model = fromAiSdk(recording.models[version]!(replay(cuts, contentTypeOf(recording)).fetch))
    const tools = toolDefs(recording, version)
    const wrong: string[] = []
    for (const { length } of cuts) {
      const outcome = await outcomeOf(model, tools)
      if (outcome !== undefined) wrong.push(`${length}: ${outcome}`)
    }
    expect(wrong).toEqual([])
    expect(cuts.length).toBeGreaterThan(whole.length / step / 2)
  }, 120_000)
})

/** What is wrong with how an answer ended that was cut. */
async function outcomeOf(model: Model, tools: ToolDef[]): Promise<string | undefined> {
  try {
    for await (const { type } of model.stream(request({ tools }))) if (type === 'finish') return 'a finish'
  } catch (error) {
    return isAlliumError(error, 'model.truncated') ? undefined : String(error)
  }
  return 'an end without a failure'
}

function toolDefs(recording: Recording, version: Version): ToolDef[] {
  return ownTools(recording, version).map(({ name, description, jsonSchema, providerExecuted }) => ({
    name,
    description,
    jsonSchema: { ...jsonSchema },
    ...(providerExecuted !== undefined && { providerExecuted }),
  }))
}

const end =
  /"finish_reason":"|"finishReason":"|"stop_reason":"|"response\.(completed|incomplete)"|interaction\.completed|messageStop/

/** Where to cut an answer, before all of it is told: its last event is read at its first newline. */
function placesIn(answer: readonly (string | Uint8Array)[]): number[] {
  const last = answer.findIndex((event) => end.test(Buffer.from(event as string).toString('latin1')))
  const length = bytesOf(answer.slice(0, last + 1)).length - (typeof answer[last] === 'string' ? 2 : 1)
  const edges = new Set(answer.map((_, i) => bytesOf(answer.slice(0, i)).length))
  const places = Array.from({ length }, (_, at) => at)
  return places.filter((at) => at % step === 0 || at === length - 1 || edges.has(at))
}
