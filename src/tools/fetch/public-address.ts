import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Ranges of IPv4 that are not public: IANA IPv4 Special-Purpose Address Registry, and multicast. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/**
 * Ranges of IPv6 that are not public although they are global unicast: IANA IPv6 Special-Purpose Address Registry. Those that contain an
 * IPv4 address, such as 6to4, could name a private one.
 */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [address, prefix] of SPECIAL_IPV4) special.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of SPECIAL_IPV6) special.addSubnet(address, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * True for an address of the public internet: not of a private, link-local or loopback network, and not of this machine. IPv4 addresses
 * inside of IPv6 ones are not public. False for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || isOwn(address)) return false;
  if (family === 4) return !special.check(address, 'ipv4');
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

function isOwn(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries?.map((entry) => entry.address) ?? []);
  return own.includes(address);
}
