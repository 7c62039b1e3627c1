import type { FlowLabels } from '@allium/core'

/** Where a label came from first. */
export interface FlowSource {
  /** A tool's result, what a server says of its tools, an attachment, messages that were given or stored without labels. */
  kind: 'tool' | 'listing' | 'attachment' | 'input' | 'history'
  tool?: string
  callId?: string
}

/** What the text that a model sees is, and through what it came to be so. */
export interface Labels {
  untrusted?: FlowSource
  private?: FlowSource
}

/** Labels of both; where both have one, its first source stays. */
export function mergeLabels(first: Labels, added: Labels): Labels {
  return { ...added, ...first }
}

/** Whether the second has a label that the first has not. */
export function hasNewLabels(first: Labels, added: Labels): boolean {
  return (added.untrusted !== undefined && first.untrusted === undefined) || addsPrivate(first, added)
}
function addsPrivate(first: Labels, added: Labels): boolean {
  return added.private !== undefined && first.private === undefined
}

/** What was declared, as labels with their source. */
export function toLabels(flow: FlowLabels, source: FlowSource): Labels {
  return { ...(flow.untrusted === true && { untrusted: source }), ...(flow.private === true && { private: source }) }
}

/** The sources in words, for who decides. */
export function describeLabels({ untrusted, private: privateSource }: Labels): string {
  const parts = [
    ...(untrusted === undefined ? [] : [`untrusted text from ${describeSource(untrusted)}`]),
    ...(privateSource === undefined ? [] : [`private text from ${describeSource(privateSource)}`]),
  ]
  return parts.join(', and ')
}

function describeSource({ kind, tool }: FlowSource): string {
  switch (kind) {
    case 'tool':
      return `the tool "${tool}"`
    case 'listing':
      return `what the server of "${tool}" says of its tools now`
    case 'attachment':
      return 'an attached file'
    case 'input':
      return 'messages that were given with the input'
    case 'history':
      return 'messages that were stored without labels'
  }
}
