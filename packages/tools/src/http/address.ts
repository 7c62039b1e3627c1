import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AlliumError } from '@allium/core'
import type { Node } from './node.ts'
import { requestRefused } from './request-refused.ts'

export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Blocks addresses that no listed host may have. The HTTP agent blocks the other private addresses. */
export class AddressCheck {
  readonly #node: Node
  readonly #never: InstanceType<Node['net']['BlockList']>

  constructor(node: Node) {
    this.#node = node
    this.#never = new node.net.BlockList()
    // Cloud metadata services: link-local, Azure, Alibaba, Oracle, AWS and Google by IPv6. Not even a host in allowPrivate may have them.
    this.#never.addSubnet('169.254.0.0', 16, 'ipv4')
    this.#never.addSubnet('fe80::', 10, 'ipv6')
    this.#never.addAddress('168.63.129.16', 'ipv4')
    this.#never.addAddress('100.100.100.200', 'ipv4')
    this.#never.addAddress('192.0.0.192', 'ipv4')
    this.#never.addAddress('fd00:ec2::254', 'ipv6')
    this.#never.addAddress('fd20:ce::254', 'ipv6')
    // Ranges that lead to IPv4 addresses: NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380).
    this.#never.addSubnet('64:ff9b::', 96, 'ipv6')
    this.#never.addSubnet('64:ff9b:1::', 48, 'ipv6')
    this.#never.addSubnet('2002::', 16, 'ipv6')
    this.#never.addSubnet('2001::', 32, 'ipv6')
    // IPv4-compatible addresses, which the library considers public.
    this.#never.addSubnet('::', 96, 'ipv6')
  }

  /** Returns why an address must not be connected to; undefined if this check allows it. */
  refusal(address: string): AlliumError | undefined {
    const { isIPv4, isIPv6 } = this.#node.net
    if (isIPv4(address)) return this.#never.check(address, 'ipv4') ? notPublic() : undefined
    // An address with a zone is link-local.
    if (!isIPv6(address) || address.includes('%')) return notPublic()
    return address !== '::1' && this.#never.check(address, 'ipv6') ? notPublic() : undefined
  }

  /** Returns a lookup for a socket, which connects to the checked addresses. Each name is resolved once. */
  lookup(resolve: Resolve | undefined): LookupFunction {
    return (hostname, options, callback) => {
      const system: Resolve = async (name) => {
        const found = await this.#node.dns.promises.lookup(name, { ...options, all: true })
        return found.map(({ address }) => address)
      }
      const find = async () => this.#checked(await (resolve ?? system)(hostname))
      const tell = (found: readonly [LookupAddress, ...LookupAddress[]]) =>
        options.all === true ? callback(null, [...found]) : callback(null, found[0].address, found[0].family)
      find().then(tell, (error) => callback(error, '', 4))
    }
  }

  #checked(addresses: readonly string[]): readonly [LookupAddress, ...LookupAddress[]] {
    for (const address of addresses) {
      const refusal = this.refusal(address)
      if (refusal !== undefined) throw refusal
    }
    const [first, ...rest] = addresses.map((address) => ({ address, family: this.#node.net.isIP(address) }))
    if (first === undefined) throw Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' })
    return [first, ...rest]
  }
}

export function notPublic(cause?: unknown): AlliumError {
  return requestRefused('The host leads to an address that is not public.', cause)
}
