interface Target {
  /** What is measured. */
  readonly of: string
  readonly target: number
  /** Why the target is missed. */
  readonly missed?: string
}

/** What is measured, and where it is to go. Less is better. */
const targets = {
  core: {
    codeLines: {
      of: 'lines of code, without comments and blank lines',
      target: 11_500,
      missed: 'Approvals, structured output, steering and journals are in core. They load later, but are lines.',
    },
    files: {
      of: 'files',
      target: 160,
      missed: 'Small files are left whose callers are in other folders, or would become too long with them.',
    },
    longFiles: {
      of: 'files over 200 lines',
      target: 5,
      missed:
        'The session and the answer of a turn would need some 70 lines more as several classes. The others start agents and runs.',
    },
    functionP90: { of: 'lines of a function, 90th percentile', target: 14 },
    functionMax: { of: 'lines of the longest function', target: 60 },
    turnCalls: { of: 'function calls of a bare turn', target: 550 },
    turnCrossings: {
      of: 'of these, calls into another folder',
      target: 215,
    },
    turnUpward: { of: 'of these, calls into a folder above, through no interface', target: 7 },
    circleFiles: { of: 'files in import circles, types included', target: 0 },
    ringCasts: { of: "casts to the rings' own classes", target: 5 },
    exportedValues: { of: 'exported values', target: 40 },
    exportedTypes: { of: 'exported types', target: 160 },
    toolContext: { of: 'members of the tool context', target: 48 },
    allContexts: { of: 'members of all contexts', target: 60 },
    agentBytes: {
      of: '{ Agent }, bytes minified and gzipped',
      target: 54_000,
      missed:
        'Client tools and stored runs load at once, or a server would grow. Similar names stay, because a misspelled hook must fail. Keys of runs and inspect() answer synchronously. Sub-agents are counted in their parent. Messages of errors name the fix (docs/decisions/0064-what-core-loads.md).',
    },
  },
  project: {
    packages: { of: 'packages, without @allium/replay and @allium/evals', target: 25 },
    circleFiles: {
      of: 'files in import circles inside a package',
      target: 0,
      missed: 'Most are types that a file and its parts need from each other.',
    },
    longFunctions: {
      of: 'functions over 60 lines',
      target: 0,
      missed: 'Most are factories of layers and stores, whose closures should be classes.',
    },
    exportedValues: { of: 'values that `allium` exports', target: 40 },
    exportedTypes: { of: 'types that `allium` exports', target: 170 },
    rootEntries: {
      of: 'entries of the root folder',
      target: 20,
      missed: 'The settings of tests and tools have no folder of their own yet.',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Target>>>>

export type Group = keyof typeof targets
export type Name<G extends Group> = keyof (typeof targets)[G] & string
export type Figures<G extends Group> = Readonly<Record<Name<G>, number>>

export function targetOf(group: Group, name: string): Target {
  return (targets[group] as Readonly<Record<string, Target>>)[name] as Target
}

export function namesOf<G extends Group>(group: G): Name<G>[] {
  return Object.keys(targets[group]) as Name<G>[]
}
