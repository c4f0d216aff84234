package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.lookup.LocalLookup;
import java.util.UUID;

/**
 * Who answers the calls of peers.
 *
 * @param runtime this host's runtime, which names the numbers of its feeds
 * @param grants decides on grants
 * @param receiver takes inventories
 * @param lookup answers questions
 * @param admin carries out orders
 * @param placements tells subscribers of placements
 */
public record PeerHandlers(
    UUID runtime,
    GrantAuthority grants,
    InventoryReceiver receiver,
    LocalLookup lookup,
    CatalogAdmin admin,
    PlacementFeed placements) {}
