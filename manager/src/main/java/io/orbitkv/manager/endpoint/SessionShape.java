package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Register;
import java.util.List;

/**
 * What the endpoint has to know of a session's registration to serve its channel.
 *
 * @param groupIds the registered groups, ascending
 * @param layerCounts how many layers were registered of each
 */
@SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
record SessionShape(int[] groupIds, int[] layerCounts) {

  static SessionShape of(Register register) {
    List<Register.Group> groups = register.groups();
    List<Register.Layer> layers = register.layers();
    int count = groups == null ? 0 : groups.size();
    int[] ids = new int[count];
    int[] counts = new int[count];
    for (int i = 0; i < count && groups != null; i++) {
      ids[i] = groups.get(i).groupId();
      for (Register.Layer layer : layers == null ? List.<Register.Layer>of() : layers) {
        counts[i] += layer.groupId() == ids[i] ? 1 : 0;
      }
    }
    return new SessionShape(ids, counts);
  }
}
