import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes come first, so that none of them runs alone at the end. Without their durations, Vitest takes the large ones first. */
const first: Readonly<Record<string, RegExp>> = {
  e2e: /store-postgres\/test\/(conformance|chaos)|tools\/test\/mcp-conformance|durable\/test\/(chaos|kills)|site\/test|create\.e2e|bundles\.e2e/,
  long: /large-sessions|every-layer|plants/,
}

/** Of planted bugs, most are found before these, which take seconds. */
const last = /stream-properties|conformance|next-misuse|secret-split|explore/

/** The order in which the files of a project run. */
export class ByDuration extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

function place({ project, moduleId }: TestSpecification): number {
  if (first[project.name]?.test(moduleId)) return -1
  return project.name === 'plant' && last.test(moduleId) ? 1 : 0
}
