import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/tools/fetch/public-address.js';

const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.255.255',
  '192.0.3.1',
  '198.20.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
];

const NOT_PUBLIC = `
  0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
  192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255 ::
  ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 fc00::1 fd12::1
  fe80::1 fe80::1%eth0 fec0::1 ff02::1 2001::1 2001:10::1 2001:db8::1 2002:7f00:1:: 3fff::1
  5f00::1 localhost 8.8.8 8.8.8.8.8 0x7f.1 example.com
  localhost 8.8.8.8.8`
  .trim()
  .split(/\s+/u);

describe('X14: an address', () => {
  it.each(PUBLIC)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(NOT_PUBLIC)('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('of this machine is not, whatever it is', () => {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? []);
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((address) => isPublicAddress(address))).toEqual([]);
  });
});
