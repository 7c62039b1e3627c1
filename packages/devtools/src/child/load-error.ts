/** A line of a stack that is not the project's own code, such as that of the loader. */
const foreignFrame = /^\s+at .*(?:node_modules[/\\]|node:|<anonymous>)/

/** Returns the text of an error of the agent's module, with the lines of its stack that are in the project. */
export function loadErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const lines = (error.stack ?? error.message).split('\n')
  return lines.filter((line) => !foreignFrame.test(line)).join('\n')
}
