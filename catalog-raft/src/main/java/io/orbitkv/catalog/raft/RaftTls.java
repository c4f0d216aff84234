package io.orbitkv.catalog.raft;

import java.nio.file.Path;

/**
 * Certificates of a host, in PEM: each side shows its own and checks the other's.
 *
 * @param key private key, PKCS #8
 * @param certificate this host's, and those between it and the authority
 * @param authority whom to trust
 */
public record RaftTls(Path key, Path certificate, Path authority) {}
