/** Splits `anthropic/claude-sonnet-4-6`; an id without a slash has no provider. */
export function splitModelId(model: string): { providerId?: string; modelId: string } {
  const slash = model.indexOf('/')
  return slash < 0 ? { modelId: model } : { providerId: model.slice(0, slash), modelId: model.slice(slash + 1) }
}
