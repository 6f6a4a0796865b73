# SPDX-License-Identifier: MIT
# The layers: what each folder may include and call. docs/architecture.md says why.
#
# A folder inside another one is a layer of its own if it has an entry here; its sources and headers are then not
# part of the folder around it, which must list it like any other. Other folders inside a layer are part of it;
# their headers are for their own files, unless the layer lists them.
#
# An entry is a folder of ours, one header of ours, or a library's header (which no folder may
# include that does not list it). Three things enforce the table:
#  - a folder is compiled with an include tree, inc/FOLDER in the build directory, that holds links
#    to nothing but its entries (and VIA: what the headers among them include in their turn) and the
#    public headers, collwire/ (the links of a folder show the layers inside it too);
#  - its sources name no other header of ours (VIA is not theirs to include), and
#  - its archive refers to no symbol of another folder, except one that an entry declares
# (both: cmake/check_layers.sh). A wrong include or call fails the build.

set(COLLWIRE_LAYERS "")    # libraries, lowest first
set(COLLWIRE_ALLOW "")     # lines "FOLDER ENTRY"
set(COLLWIRE_ARCHIVES "")
set(COLLWIRE_INCLUDE_TREES ${PROJECT_BINARY_DIR}/inc)

# Layers inside folders, as this file lists them.
file(STRINGS ${CMAKE_CURRENT_LIST_FILE} inner_layers REGEX "^collwire_layer\\([a-z_]+/")
list(TRANSFORM inner_layers REPLACE "^collwire_layer\\(([a-z_/]+).*" "\\1")

# Set `variable` to the layer that has a path: its first folder, or the layer inside it.
function(collwire_layer_of path variable)
  string(REGEX MATCH "^[^/]+" owner ${path})
  foreach(inner IN LISTS inner_layers)
    string(FIND "${path}/" "${inner}/" at)
    if(at EQUAL 0)
      set(owner ${inner})
    endif()
  endforeach()
  set(${variable} ${owner} PARENT_SCOPE)
endfunction()

# collwire_layer(FOLDER [ALLOW entry...] [VIA entry...] [LIBS target...])
# The library of folder net/wire is collwire_net-wire.
function(collwire_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALLOW;VIA;LIBS")
  set(allow ${COLLWIRE_ALLOW})
  foreach(entry IN LISTS arg_ALLOW)
    list(APPEND allow "${folder} ${entry}")
  endforeach()
  set(COLLWIRE_ALLOW ${allow} PARENT_SCOPE)

  file(GLOB sources CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.c ${PROJECT_SOURCE_DIR}/${folder}/*/*.c)
  foreach(inner IN LISTS inner_layers)
    if(NOT inner STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${inner}/")
    endif()
  endforeach()
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "-" name ${folder})
  set(tree ${COLLWIRE_INCLUDE_TREES}/${name})
  set(library collwire_${name})
  add_library(${library} STATIC ${sources})
  target_include_directories(${library} PRIVATE ${tree})
  target_link_libraries(${library} PRIVATE ${arg_LIBS})
  file(MAKE_DIRECTORY ${tree})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/collwire ${tree}/collwire SYMBOLIC)
  set(entries ${folder} ${arg_ALLOW} ${arg_VIA})
  foreach(entry IN LISTS entries)
    collwire_layer_of(${entry} owner)
    string(REGEX MATCH "^[^/]+" outer ${entry})
    if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${outer})
      continue() # a library's header, or a folder yet to come
    endif()
    # a link to a folder shows what is in it
    if(entry STREQUAL outer OR NOT (outer IN_LIST entries OR (owner IN_LIST entries AND NOT entry STREQUAL owner)))
      cmake_path(GET entry PARENT_PATH parent)
      file(MAKE_DIRECTORY ${tree}/${parent})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${entry} ${tree}/${entry} SYMBOLIC)
    endif()
    string(REPLACE "/" "-" owner_name ${owner})
    if(TARGET collwire_${owner_name} AND NOT owner STREQUAL folder)
      target_link_libraries(${library} PRIVATE collwire_${owner_name})
    endif()
  endforeach()
  set(COLLWIRE_LAYERS ${COLLWIRE_LAYERS} ${library} PARENT_SCOPE)
  set(COLLWIRE_ARCHIVES ${COLLWIRE_ARCHIVES} $<TARGET_FILE:${library}> PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${COLLWIRE_INCLUDE_TREES}) # links only: an entry taken out must not linger

collwire_layer(engine ALLOW collwire/types.h collwire/param.h collwire/processes.h ev.h LIBS ev random123)

collwire_layer(engine/database # SQLite files of others
  ALLOW engine sqlite3.h LIBS PkgConfig::sqlite3)
collwire_layer(net ALLOW engine collwire/hint.h collwire/int_hop.h)
collwire_layer(net/wire ALLOW engine net zlib.h LIBS PkgConfig::zlib) # frames as bytes
collwire_layer(topology ALLOW engine)
collwire_layer(cc # pure: no clock, queue, packet, allocator
  ALLOW collwire engine/assert.h engine/err.h engine/param.h engine/units.h
  LIBS m) # sqrt
collwire_layer(collective ALLOW engine)
collwire_layer(footprint ALLOW engine LIBS m) # the memory of a GPU in training: pure, knows no scenario
collwire_layer(kernels # times of kernels on GPUs, by shape: pure
  ALLOW engine footprint/device.h LIBS m)

collwire_layer(cpu ALLOW engine) # cores of hosts, and their threads
collwire_layer(mpi) # Open MPI's algorithms and protocol: pure
collwire_layer(nccl)
collwire_layer(nccl/xml # algorithms of MSCCL's files
  ALLOW engine nccl)

collwire_layer(cc/plugin # policies of shared libraries
  ALLOW engine cc collwire nettle/sha2.h
  LIBS PkgConfig::nettle m) # isfinite

collwire_layer(switch ALLOW engine net)
collwire_layer(transport # its senders and NICs are open to all, the folders of transports are not
  ALLOW engine cpu net cc net/wire transport/sender transport/nic isa-l/crc.h LIBS PkgConfig::libisal) # ICRC
collwire_layer(analytical ALLOW engine topology collective net/transfer.h)

collwire_layer(comm/library # collectives as a library of GPUs runs them
  ALLOW engine cpu mpi nccl nccl/xml net/transfer.h LIBS m)
collwire_layer(comm ALLOW engine collective nccl net/transfer.h comm/library)
collwire_layer(workload/tiers # memories beside a GPU's own, and copies between them
  ALLOW engine net/transfer.h)
collwire_layer(workload ALLOW engine cpu collective comm nccl net/transfer.h workload/tiers LIBS m)
collwire_layer(workload/nodes # programs: computations and messages with dependencies
  ALLOW engine collective comm net/transfer.h workload workload/tiers VIA net nccl LIBS m)
collwire_layer(workload/llm # training of transformers, as programs
  ALLOW engine collective comm footprint kernels workload workload/nodes workload/tiers VIA net nccl LIBS m)
collwire_layer(plan # which layouts of a transformer's training fit and are fast, in closed form
  ALLOW engine footprint workload/llm/llm_spec.h workload/llm/llm_time.h VIA kernels net nccl collective comm workload LIBS m)
collwire_layer(partition # chains of work, graphs of it and tables, divided among ranks
  ALLOW engine metis.h LIBS metis m)
collwire_layer(synth # new sets of programs and lists of flows from the statistics of others: pure
  ALLOW engine collective nettle/sha2.h workload/flows.h workload/nodes/node.h
  VIA comm nccl net workload workload/tiers
  LIBS PkgConfig::nettle m)
collwire_layer(workload/cnn # training of convolutional networks, as programs
  ALLOW engine collective comm footprint workload workload/nodes workload/tiers VIA net nccl LIBS m)
collwire_layer(workload/training # training layer by layer, and by parameter servers
  ALLOW engine collective comm footprint kernels nccl net/transfer.h workload workload/tiers VIA net LIBS m)
collwire_layer(workload/chakra # execution traces as nodes of programs
  ALLOW engine collective comm/rendezvous.h workload workload/nodes jansson.h protobuf-c/protobuf-c.h
  zlib.h VIA comm net nccl
  LIBS PkgConfig::jansson PkgConfig::zlib chakra_schema m)
collwire_layer(workload/goal ALLOW engine workload workload/nodes VIA comm collective net)
collwire_layer(trace ALLOW engine net net/wire isa-l/igzip_lib.h pcap.h LIBS PkgConfig::libisal PkgConfig::libpcap)

# A simulation, from its floor up.
set(spec_via cpu engine collective nccl topology cc comm net net/wire switch transport workload sim/spec/output_list.h)
collwire_layer(sim/spec # the scenario as structs
  ALLOW engine cpu/host_spec.h footprint net topology cc collective comm switch transport workload)
collwire_layer(sim/result # the results as structs
  ALLOW engine footprint/footprint.h net/drop.h LIBS m)
collwire_layer(sim/fabric # the network: graph, ports, switches, hosts
  ALLOW engine cpu net net/wire topology cc collective comm switch transport sim/spec sim/result
  VIA cpu footprint/footprint.h workload LIBS m)
collwire_layer(sim/ideal # times of messages and collectives that are alone
  ALLOW engine net topology collective comm transport sim/spec sim/result sim/fabric
  VIA cpu footprint/footprint.h cc net/wire switch workload LIBS m)
collwire_layer(sim/delivery # the layers of messages, and their records
  ALLOW engine net topology collective transport analytical sim/spec sim/result sim/fabric sim/ideal
  VIA cpu footprint/footprint.h cc comm net/wire switch workload LIBS m)
set(delivery_via analytical cc collective comm net/wire sim/spec sim/ideal switch topology)
collwire_layer(sim/parallel # several threads and processes
  ALLOW collwire/processes.h engine net switch topology comm/foresight.h transport workload sim/result sim/fabric sim/delivery
  VIA cpu footprint/footprint.h ${delivery_via} LIBS m)
collwire_layer(sim/skip # repetitions
  ALLOW engine net switch transport workload sim/result sim/fabric sim/delivery
  VIA cpu footprint/footprint.h ${delivery_via} LIBS m)
collwire_layer(sim/observe # captures and time series
  ALLOW engine net net/wire cc switch topology transport trace sim/spec sim/result sim/fabric sim/delivery
  VIA cpu footprint/footprint.h analytical collective comm sim/ideal switch topology workload LIBS m)
collwire_layer(sim/explain # sentences
  ALLOW workload/training engine net cc collective comm switch topology transport workload sim/spec sim/result sim/fabric
        sim/ideal
  VIA cpu footprint nccl net/wire LIBS m)
collwire_layer(sim/advice # what a scenario's settings lead to, before the run
  ALLOW engine net cc collective comm switch topology transport workload sim/spec sim/result sim/fabric
  VIA cpu footprint/footprint.h net/wire LIBS m)
collwire_layer(sim/collect # the result of a run
  ALLOW workload/nodes workload/training engine footprint net cc collective comm nccl/library_spec.h switch topology transport workload sim/simulation.h sim/spec sim/result sim/fabric
        sim/ideal sim/delivery sim/parallel sim/skip sim/observe sim/explain
  VIA analytical cpu nccl net/wire trace sim/sim.h sim/estimate.h LIBS m)
collwire_layer(sim
  ALLOW collwire/processes.h engine footprint net comm switch transport workload sim/spec sim/result sim/fabric sim/ideal sim/delivery
        sim/parallel sim/skip sim/observe sim/collect sim/advice
  VIA analytical cc collective cpu net/wire topology trace LIBS m)

collwire_layer(report
  ALLOW engine footprint/footprint.h net/drop.h sim/result jansson.h libsmartcols.h
  LIBS PkgConfig::jansson PkgConfig::smartcols)
collwire_layer(report/comparison # runs side by side: statistics over seeds
  ALLOW engine report/path_shares.h report/rows.h jansson.h
  VIA report
  LIBS PkgConfig::jansson m)
# Reading scenarios. VIA: cc/cc.h, sim/spec and what they include.
set(config_via cpu nccl net net/wire comm switch transport workload collective cc topology sim/spec)
collwire_layer(config/text # JSON and YAML, files, places of errors, tables of keys
  ALLOW engine cc/catalogue.h cc/plugin/policies.h topology/graph.h sim/spec jansson.h yaml.h
  VIA cc/plugin collwire/collwire.h ${config_via}
  LIBS PkgConfig::jansson PkgConfig::yaml-0.1 m)
collwire_layer(config/algorithm # the ranks of a job, and the algorithms of its collectives
  ALLOW workload/training engine collective mpi nccl nccl/xml config/text topology/graph.h workload workload/chakra sim/spec expat.h jansson.h
  VIA cc/plugin ${config_via}
  LIBS PkgConfig::expat PkgConfig::jansson m)
collwire_layer(config/foreign # files of ASTRA-sim
  ALLOW workload/training engine collective config/text config/algorithm topology workload sim/spec jansson.h
  VIA cc/plugin ${config_via}
  LIBS PkgConfig::jansson m)
collwire_layer(config/job # kinds of jobs
  ALLOW footprint kernels workload/cnn workload/llm workload/nodes workload/tiers workload/training engine collective config/text config/algorithm config/foreign topology workload workload/chakra
        workload/goal sim/spec jansson.h
  VIA cc/plugin ${config_via}
  LIBS PkgConfig::jansson m)
collwire_layer(config/object # objects of a scenario
  ALLOW footprint workload/nodes workload/tiers workload/training engine topology cc collective nccl config/text config/algorithm config/foreign config/job switch/switch_spec.h transport/transport.h
        transport/nic/nic_spec.h transport/transport_spec.h workload sim/spec jansson.h
        cc/plugin
  VIA ${config_via}
  LIBS PkgConfig::jansson m) # llround
collwire_layer(config
  ALLOW engine topology cc collective config/text config/algorithm config/foreign config/job config/object
        transport/transport.h workload workload/chakra workload/nodes workload/training sim/spec jansson.h cc/plugin collwire/collwire.h collwire/loader.h
  VIA footprint kernels workload/tiers ${config_via}
  LIBS PkgConfig::jansson m)

collwire_layer(replay # captures of other sources, as flows
  ALLOW engine net/wire/address.h net/wire/ip.h config/text/text_file.h pcap.h zlib.h
  LIBS PkgConfig::libpcap PkgConfig::zlib)
collwire_layer(profile # recordings of real runs, as programs
  ALLOW engine engine/database collective config/text/json_file.h replay/input.h jansson.h sqlite3.h
  LIBS PkgConfig::jansson PkgConfig::sqlite3 m) # llround
collwire_layer(study # pools of runs and what is made of their results
  ALLOW engine engine/database report/comparison report/csv.h report/metric.h report/path_shares.h report/rows.h ev.h jansson.h libsmartcols.h
        nettle/sha2.h sqlite3.h zlib.h
  LIBS ev PkgConfig::jansson PkgConfig::nettle PkgConfig::smartcols PkgConfig::sqlite3
       PkgConfig::zlib m)

collwire_layer(library # collwire/collwire.h over the folders above
  ALLOW engine collwire cc/plugin config/scenario.h report/comparison report/metric.h report/metrics.h report/metrics_brief.h report/rows.h sim sim/advice sim/spec sim/result jansson.h
  VIA cpu footprint/footprint.h sim/fabric cc net net/wire topology collective switch transport analytical comm workload
  LIBS PkgConfig::jansson m)

# The command line. What the library offers it has from collwire/collwire.h.
set(cli_via cpu footprint/footprint.h net net/wire topology cc collective switch transport analytical comm workload report sim)
collwire_layer(cli/terminal # terminal, signals, and the limits of the process
  ALLOW engine collwire study/pool.h dlfcn.h
  VIA cc config/scenario.h ${cli_via}
  LIBS PkgConfig::jansson ${CMAKE_DL_LIBS} m)
collwire_layer(cli/drawing # a chart of a page as a picture
  ALLOW engine duktape.h dlfcn.h
  LIBS PkgConfig::duktape ${CMAKE_DL_LIBS})
collwire_layer(cli/options # the command line and its tables
  ALLOW engine collwire cli/terminal library cc/plugin cc/catalogue.h config/scenario.h config/text/object.h jansson.h
  VIA ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/results # folders of results
  ALLOW engine collwire cli/terminal library config/object/output_name.h config/scenario.h study/point_hash.h
        sim/result nettle/sha2.h jansson.h
  VIA config/scenario.h cc/plugin ${cli_via}
  LIBS PkgConfig::jansson PkgConfig::nettle m)
collwire_layer(cli/processes # this process among those of a launcher
  ALLOW engine collwire cli/terminal cli/results/share_folder.h library config/scenario.h study/point_hash.h processes/module.h nettle/sha2.h dlfcn.h
  VIA cc/plugin ${cli_via}
  LIBS PkgConfig::nettle ${CMAKE_DL_LIBS} m)
collwire_layer(cli/runs # commands that simulate, or read what was simulated
  ALLOW engine collwire cli/drawing cli/terminal cli/options cli/processes cli/results library config/draft.h config/scenario.h config/policy_choice.h config/object/output_name.h study jansson.h
        sim/result
        report/comparison report/csv.h report/headline.h report/metric.h report/metrics_brief.h report/page.h report/rows.h report/why.h
  VIA cc/plugin ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/sweep # collwire sweep
  ALLOW engine collwire cli/terminal cli/options cli/results cli/runs library config/scenario.h config/policy_choice.h study jansson.h
        report/cause.h report/comparison report/csv.h report/headline.h report/metric.h report/rows.h
  VIA cc/plugin ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/extcap # the interface of Wireshark
  ALLOW engine collwire cli/terminal cli/options cli/results cli/runs library config/scenario.h config/policy_choice.h jansson.h
        sim/sim.h sim/spec trace/filter.h # it lists places
  VIA cc/plugin ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/nccl # collwire library nccl
  ALLOW engine collwire cli/terminal cli/options library nccl collective/collective.h
        config/algorithm/library_settings.h config/text/text_file.h jansson.h
  VIA ${cli_via} cc/plugin config/scenario.h
  LIBS PkgConfig::jansson m)
collwire_layer(cli/plan # collwire plan
  ALLOW engine collwire cli/terminal cli/options cli/runs library config/draft.h config/scenario.h footprint nccl plan
        sim/spec study/point_hash.h study/pool.h workload/llm/llm_job.h workload/llm/llm_spec.h jansson.h
  VIA cc/plugin kernels workload/llm workload/nodes workload ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/gpcnet # collwire gpcnet
  ALLOW engine collwire cli/terminal cli/options cli/results cli/runs library config/draft.h config/policy_choice.h config/scenario.h
        sim/spec study/pool.h jansson.h
  VIA cc/plugin ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/partition # collwire partition
  ALLOW engine collwire cli/terminal cli/options cli/results library config/draft.h config/scenario.h config/text/place.h partition
        sim/spec workload/cnn jansson.h
  VIA cc/plugin workload/nodes workload footprint nccl ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli/synth # collwire synth
  ALLOW engine collwire cli/terminal cli/options cli/results library config/draft.h config/job/flow_file.h config/program_scenario.h
        config/program_text.h config/scenario.h config/text/relative_path.h replay/replay.h sim/spec synth workload/flows.h workload/nodes/node.h jansson.h
  VIA cc/plugin config/job workload/nodes workload collective comm nccl replay ${cli_via}
  LIBS PkgConfig::jansson m)
collwire_layer(cli
  ALLOW engine collwire cli/terminal cli/options cli/processes cli/results cli/runs cli/sweep cli/extcap cli/nccl cli/plan cli/partition cli/gpcnet cli/synth library config profile replay study jansson.h nettle/sha2.h dlfcn.h
        config/scenario.h config/text/object.h config/text/synonyms.h config/algorithm/training_layers.h config/foreign/astra_workload.h
        config/job/gemm_file.h config/object/output_name.h
        report/csv.h report/headline.h report/metric.h report/page.h report/rows.h report/why.h
        sim/result sim/sim.h # for extcap, which lists places
        trace/filter.h
        # catalogues that list.c prints, and workloads from matrix products
        cc/cc.h cc/catalogue.h collective/collective.h cc/plugin report/metric_table.h workload/training/gemm.h
  VIA ${cli_via}
  LIBS PkgConfig::jansson PkgConfig::nettle ${CMAKE_DL_LIBS} m)

# ---- the check ----

list(JOIN COLLWIRE_ALLOW "\n" rules)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/layers.txt CONTENT "${rules}\n" @ONLY)
set(stamp ${PROJECT_BINARY_DIR}/layers.stamp)
add_custom_command(
  OUTPUT ${stamp}
  COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check_layers.sh
          ${CMAKE_NM} ${PROJECT_BINARY_DIR}/layers.txt ${PROJECT_SOURCE_DIR} ${COLLWIRE_ARCHIVES}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${COLLWIRE_LAYERS} cmake/check_layers.sh ${PROJECT_BINARY_DIR}/layers.txt
  COMMENT "Checking the layers"
  VERBATIM)
add_custom_target(collwire_layers ALL DEPENDS ${stamp})
