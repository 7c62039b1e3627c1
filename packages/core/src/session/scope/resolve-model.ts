import { AlliumError } from '../../errors/allium-error.ts'
import { describeModel, isModel, knownModel, type Model } from '../../model/model.ts'
import type { SessionScope } from './session-scope.ts'

/**
 * Resolves a model reference for the principal of a session.
 *
 * @throws AlliumError `model.unresolved` for a string without a resolver, `model.invalid` if it is not a model, and
 * errors of the resolver
 */
export async function resolveModel({ agent, principal }: SessionScope, ref: unknown): Promise<Model> {
  const { resolveModel: resolve, adaptModel } = agent.setup
  const given = knownModel(ref, adaptModel)
  if (isModel(given)) return given
  if (given === undefined) throw notModel(`A model call takes a model or a string, but ${describeModel(ref)}.`)
  if (resolve === undefined)
    throw new AlliumError(
      'model.unresolved',
      `The model "${given}" is a string, but this agent has no resolveModel. Import Agent from "allium", or pass a model object.`,
    )
  const found: unknown = await resolve(given, { principal })
  const model = knownModel(found, adaptModel)
  if (isModel(model)) return model
  throw notModel(
    `resolveModel was asked for "${given}", but ${describeModel(found)}. A model has id and stream(request).`,
  )
}

function notModel(what: string): AlliumError {
  return new AlliumError('model.invalid', what)
}
