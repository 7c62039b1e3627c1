import type { ChosenModel, Env } from './chosen-model.ts'
import { mockModel } from './mock-model.ts'
import { namedModel } from './named-model.ts'
import { ollamaModel } from './ollama-model.ts'

/** Returns the model that ALLIUM_MODEL names, else a model of a local Ollama, else a mock server. So the demo needs no key. */
export async function chooseModel(env: Env = process.env): Promise<ChosenModel> {
  return (await namedModel(env)) ?? (await ollamaModel(env)) ?? (await mockModel())
}
